"""Words of the small collections."""

HEADINGS = {
    "law": "court judge lawyer justice ruling hearing prosecutor statute witness evidence",
    "sport": "match season league coach victory defeat stadium referee champion score",
    "energy": "price output market demand supply minister export plant power quota",
}
TOPICS = {
    "law/bail": "bail custody release surety bond suspect remand curfew",
    "law/appeal": "appeal verdict overturn precedent tribunal supreme petition dissent",
    "sport/football": "football goal striker penalty defender keeper transfer header",
    "sport/tennis": "tennis serve racket tournament ace volley backhand deuce",
    "energy/oil": "oil barrel crude refinery pipeline drilling opec tanker",
    "energy/solar": "solar panel grid battery inverter roof subsidy module",
}
GENERAL = ["the", "and", "that", "with", "said", "year", "people", "time", "new", "report", "week", "day"]
