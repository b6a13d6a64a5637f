// The public index exports every kind, with the types of its objects and of its inputs.
import { equal, notEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { kinds } from '../api/kinds.ts'
import * as index from './index.ts'

const source = readFileSync(new URL('index.ts', import.meta.url), 'utf8')
const statements = [...source.matchAll(/export \{([^}]*)\} from/g)].map(([, names = '']) =>
  names.split(',').map((name) => name.trim()),
)
/** The name under which an entry such as `type Event as EventsEvent` is exported. */
const exportedName = (entry: string): string =>
  entry
    .replace(/^type /, '')
    .split(' as ')
    .at(-1) ?? ''

for (const kind of kinds)
  test(`exports ${kind.apiVersion} ${kind.kind} and its types`, () => {
    const name = Object.entries(index).find(([, value]) => value === kind)?.[0]
    notEqual(name, undefined, 'the kind is not exported')
    const entries = statements.find((names) => names.map(exportedName).includes(name ?? '')) ?? []
    const types = entries.filter((entry) => entry.startsWith('type ')).map(exportedName)
    equal(types.length, 2, 'the type of objects and the type of inputs')
    equal(types[1], `${types[0]}Input`)
    equal(types[0]?.toLowerCase(), name?.toLowerCase())
  })
