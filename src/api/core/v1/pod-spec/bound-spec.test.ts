import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { markInterned } from '../../../../base/collections/interned-values.ts'
import { boundSpec, cachedBySpec } from './bound-spec.ts'
import type { PodSpec } from './pod-spec.ts'

const specOf = (): PodSpec => ({ containers: [{ name: 'c', image: 'i' }] }) as unknown as PodSpec

test('values of an interned spec are computed once, also for the specs that are bound from it', () => {
  let asked = 0
  const imagesOf = cachedBySpec(({ containers, nodeName }) => {
    asked++
    equal(nodeName, undefined)
    return containers.map(({ image }) => image)
  })
  const spec = markInterned(specOf())
  const bound = ['a', 'b'].map((name) => boundSpec(spec, name))
  deepEqual(
    bound.map(({ nodeName }) => nodeName),
    ['a', 'b'],
  )
  for (const one of [spec, ...bound]) deepEqual(imagesOf(one), ['i'])
  equal(asked, 1)
})

test('values of a spec that is not interned are not cached', () => {
  let asked = 0
  const count = cachedBySpec(() => ++asked)
  const spec = boundSpec(specOf(), 'a')
  deepEqual([count(spec), count(spec)], [1, 2])
})
