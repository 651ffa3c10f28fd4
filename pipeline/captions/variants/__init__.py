"""Variants of captions: vaguer ones, and ones that say something else in one word."""
