/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The posixtrace authors */
/* A library that test_mappings.c loads and unloads. */
#include <pthread.h>

void module_work(void);

static pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;

void module_work(void)
{
    pthread_mutex_lock(&module_lock);
    pthread_mutex_unlock(&module_lock);
}
