-- The quotas of several kinds may pay for one request: a drama uses tokens, images and seconds of video.

-- For the ops hold and settle, instead of kind and units: for each kind {kind, units, num, den}, the quantity and its part
-- of the price. What they leave of the price is for money only.
alter type ledger_item add attribute shares jsonb;
