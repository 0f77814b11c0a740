"""The tour: the program's main job, done by itself in the real window, with a picture of every
step. It is how a person without a display sees what Slipway does, and how a build proves it."""
