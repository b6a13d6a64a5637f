import { deepEqual, doesNotThrow, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { JsonObject } from '../../schema/json/json-value.ts'
import { checkObjectType } from './object-type.ts'

const widget = { group: 'example.com', kind: 'Widget', apiVersion: 'example.com/v1', custom: {} } as Kind

function errorOf(kind: Kind, body: JsonObject, isPatched = false): [code: number, message: string] | undefined {
  try {
    checkObjectType(kind, body, isPatched)
    return undefined
  } catch (error) {
    return error instanceof StatusError ? [error.code, error.message] : [0, String(error)]
  }
}

const metadata = { name: 'a' }
const typed = { apiVersion: 'example.com/v1', kind: 'Widget', metadata }

test('the type of a custom object must be its kind', () => {
  deepEqual(errorOf(widget, typed), undefined)
  deepEqual(errorOf(widget, { ...typed, kind: 'Gadget' }), [
    422,
    'Gadget.example.com "a" is invalid: kind: Invalid value: "Gadget": must be Widget',
  ])
  deepEqual(errorOf(widget, { kind: 'Widget' }), [
    400,
    'the API version in the data () does not match the expected API version (example.com/v1)',
  ])
  deepEqual(errorOf(widget, { ...typed, apiVersion: 'example.com/v2' }, true), [
    422,
    'Widget.example.com "a" is invalid: apiVersion: Invalid value: "example.com/v2": must be example.com/v1',
  ])
  deepEqual(errorOf(widget, { metadata }), [
    400,
    `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"metadata":{"name":"a"}}' ({"metadata":{"name":"a"}})`,
  ])
  deepEqual(errorOf(widget, { apiVersion: 'a/b/c', kind: 'Widget', metadata }), [
    400,
    'the object provided is unrecognized (must be of type Widget): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)',
  ])
})

test('a built-in object may leave its type out', () => {
  doesNotThrow(() => checkObjectType(configMap, { metadata }))
  throws(() => checkObjectType(configMap, { kind: 'Secret' }), /the kind in the data \(Secret\)/)
})
