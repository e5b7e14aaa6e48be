<?php

use Illuminate\Support\Facades\DB;

DB::statement('create table kept as select * from jobs');
