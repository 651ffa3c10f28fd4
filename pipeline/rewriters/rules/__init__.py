"""Rewriting by rules: grammar and word lists, no model; a stand-in for an LLM where none is."""

from pipeline.rewriters.rules.gender import Genders
from pipeline.rewriters.rules.lexicon import Gender
from pipeline.rewriters.rules.rewriter import Finder, RulesRewriter
from pipeline.rewriters.rules.rewriting import Rewritten

__all__ = ["Finder", "Gender", "Genders", "Rewritten", "RulesRewriter"]
