// Requests of a kubelet and of an administrator, for tests of restrictions.
import { equal } from 'node:assert/strict'
import type { Harness } from '../server.harness.ts'

export const kubelet = { as: 'system:node:n1,system:nodes' }
export const merge = { 'content-type': 'application/merge-patch+json' }

export async function make(server: Harness, path: string, object: object): Promise<void> {
  const { status, body } = await server.call('POST', path, object)
  equal(status, 201, JSON.stringify(body))
}
