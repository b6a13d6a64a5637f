import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { podBurstOf, podsBurstMax } from './pod-burst.ts'

const bursts: [why: string, source: object, burst: number][] = [
  ['a small template', { spec: { containers: [] } }, podsBurstMax],
  ['a template of 1 MiB', { text: 'x'.repeat(1 << 20) }, 7],
  ['a template of 9 MiB', { text: 'x'.repeat(9 << 20) }, 1],
]
for (const [why, source, burst] of bursts)
  test(`one plan creates ${burst} pods from ${why}`, () => {
    equal(podBurstOf(source), burst)
    equal(podBurstOf(source), burst)
  })
