// The list of controllers, and what holds for every one of them.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../base/metrics.ts'
import { controllers } from './controllers.ts'
import { controllerMetrics } from './runtime.ts'

test('the controllers are listed in the order of the alphabet, each under a name and an account of its own', () => {
  const names = controllers.map(({ name }) => name)
  deepEqual(names, names.toSorted())
  equal(new Set(names).size, names.length)
  equal(
    new Set(controllers.map(({ account }) => account)).size,
    names.length - 1,
    'only the two parts of Jobs share one',
  )
  controllerMetrics(new Metrics()).depth.set({ name: 'x' }, 1)
})
