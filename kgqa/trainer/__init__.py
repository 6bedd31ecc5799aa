"""Training: here recipes and the one loop; what is pretrained, fine-tuned, and on which data in the rooms beside."""
