"""Simulated annotators, for rehearsals: who they are, their accounts, and what they answer."""
