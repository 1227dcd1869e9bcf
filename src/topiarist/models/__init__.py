"""Pure EM mathematics: one module a model, and the only EM loop."""
