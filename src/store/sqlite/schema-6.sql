-- QUOTA's step.
select 1;
