"""Models of counts and vectors as EM steps, the only EM loop, and the engines that compute them."""
