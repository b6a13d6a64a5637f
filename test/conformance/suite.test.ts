import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { focusOn } from './suite.ts'

test('the focus matches the given specs and no others', () => {
  const names = ['[sig-a] Job (x|y) should run. [Conformance]', '[sig-a] Pod should run']
  const pattern = new RegExp(focusOn(names))
  const others = [
    '[sig-a] Job x should run. [Conformance]',
    '[sig-a] Pod should run twice',
    '[sig-a] My Pod should run',
  ]
  const run = [...names, ...others].filter((name) => pattern.test(`Kubernetes e2e suite ${name}`))
  deepEqual(run, names)
})
