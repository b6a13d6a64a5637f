// Definitions for tests of what handles custom objects.
import { equal } from 'node:assert/strict'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import type { Harness } from '../server.harness.ts'

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Without properties, everything is preserved. */
export const customVersion = (name: string, properties?: object, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: {
    openAPIV3Schema:
      properties === undefined
        ? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
        : { type: 'object', properties },
  },
  ...more,
})

export const customDefinition = (
  plural: string,
  kind: string,
  versions: readonly object[] = [customVersion('v1')],
  more: object = {},
) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: { group: 'example.com', scope: 'Namespaced', names: { plural, kind }, versions, ...more },
})

/** Waits for what the server does by itself, which takes turns of the event loop only. */
export async function eventually<T>(probe: () => Promise<T | undefined>): Promise<T> {
  for (let turns = 0; turns < 1_000; turns++) {
    const found = await probe()
    if (found !== undefined) return found
    await eventLoopTurn()
  }
  throw new Error('the condition was not reached')
}

/** Creates the definition and waits until its resource is served. */
export async function define(server: Harness, definition: ReturnType<typeof customDefinition>): Promise<void> {
  const { status, body } = await server.call('POST', definitionsPath, definition)
  equal(status, 201, JSON.stringify(body))
  const { group, names, versions } = definition.spec
  const path = `/apis/${group}/${(versions[0] as { name: string }).name}/${names.plural}`
  await eventually(async () => ((await server.call('GET', path)).status === 200 ? true : undefined))
}
