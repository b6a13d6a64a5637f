// A kind that is known by its names only.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { bareKind } from './bare-kind.ts'
import { qualifiedResource } from './kind.ts'

test('a bare kind has names and accepts all objects', () => {
  const names = { version: 'v1', kind: 'Widget', plural: 'widgets', singular: 'widget', namespaced: true }
  const own = bareKind({ group: 'example.com', ...names })
  const core = bareKind({ group: '', ...names })
  deepEqual([own.apiVersion, core.apiVersion], ['example.com/v1', 'v1'])
  deepEqual([qualifiedResource(own), qualifiedResource(core)], ['widgets.example.com', 'widgets'])
  deepEqual(own.validateName('Any Name'), [])
})
