-- WRITER's step.
select 1;
