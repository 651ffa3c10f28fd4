"""The ways of rewriting a description, one module each behind one port (`port.Rewriter`)."""
