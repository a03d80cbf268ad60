"""Replay photos from a photo site: found, filtered, fetched politely, credited."""
