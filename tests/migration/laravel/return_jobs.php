<?php

use Illuminate\Support\Facades\DB;

DB::statement('insert into jobs select * from kept');
