import { test } from 'vitest'
import { scenario } from './scenario.cjs'

for (const [name, run] of Object.entries(scenario)) test(name, run)
