"""Who a caller is: tokens and reviews of them."""
