// Everything of Farfield's public C++ API.
#pragma once

#include <farfield/array.h>
#include <farfield/communicator.h>
#include <farfield/density.h>
#include <farfield/device.h>
#include <farfield/error.h>
#include <farfield/options.h>
#include <farfield/run.h>
#include <farfield/simulation.h>
#include <farfield/stencil.h>
#include <farfield/stencil_builder.h>
#include <farfield/stencil_run.h>
#include <farfield/sum.h>
#include <farfield/sum_sigmas.h>
#include <farfield/units.h>
#include <farfield/version.h>
