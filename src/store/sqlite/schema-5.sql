-- WRITER's
select 1;
