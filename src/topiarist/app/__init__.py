"""What a person sees. Only this room prints."""
