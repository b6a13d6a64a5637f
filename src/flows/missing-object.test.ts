import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../api/apps/v1/deployment.ts'
import { node } from '../api/core/v1/node/node.ts'
import type { Kind } from '../api/kind/kind.ts'
import { missingObjectText, type ObjectName } from './missing-object.ts'

const at = (namespace: string, ...names: string[]): ObjectName[] => names.map((name) => ({ namespace, name }))

const rows: [what: string, kind: Kind, name: ObjectName, known: ObjectName[], text: string][] = [
  [
    'a similar name',
    deployment,
    { namespace: 'default', name: 'wbe' },
    at('default', 'web', 'api'),
    'deployment "wbe" not found in namespace "default"; did you mean web?',
  ],
  [
    'the same name in another namespace',
    deployment,
    { namespace: 'default', name: 'web' },
    [...at('default', 'weg'), ...at('shop', 'web')],
    'deployment "web" not found in namespace "default"; there is one in namespace "shop"',
  ],
  [
    'no similar name; names of other namespaces are not suggested',
    deployment,
    { namespace: 'default', name: 'web' },
    at('shop', 'wen'),
    'deployment "web" not found in namespace "default"',
  ],
  [
    'a kind without namespaces',
    node,
    { namespace: '', name: 'nod-0' },
    at('', 'node-0'),
    'node "nod-0" not found; did you mean node-0?',
  ],
]
for (const [what, kind, name, known, text] of rows)
  test(`a missing object: ${what}`, () => equal(missingObjectText(kind, name, known), text))
