"""Deliberately broken components, each with the check that must catch it and a part of what that check says."""
