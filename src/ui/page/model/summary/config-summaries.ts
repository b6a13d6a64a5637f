// The summaries of Secrets, ConfigMaps, claims and ServiceAccounts: what they have, and what uses them.
import type { ClusterObject } from '../../source/source.ts'
import { titleOf } from './pod-summary.ts'
import type { PodReferences } from './pod-references.ts'
import { cellState } from '../cell-states.ts'
import { fact, linkNamed, tableRowsMax, type KindSummary, type SummaryTable } from './summary-parts.ts'
import { otherUsersOfSecret, usedByQueries, usedByTable, usersOf } from './used-by.ts'

interface Data {
  readonly type?: string
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

const dataOf = (object: ClusterObject): Data => object as Data
/** Base64 has four characters for three bytes. */
const decodedBytes = (text: string): number => Math.floor((text.replace(/=+$/, '').length * 3) / 4) // linear: one pass

/** Names and sizes, not values. */
function keysTable({ data = {}, binaryData = {} }: Data, isEncoded: boolean): SummaryTable {
  const sizes = [
    ...Object.entries(data).map(
      ([key, text]) => [key, isEncoded ? decodedBytes(text) : new TextEncoder().encode(text).length] as const,
    ),
    ...Object.entries(binaryData).map(([key, text]) => [key, decodedBytes(text)] as const),
  ]
  return {
    title: titleOf('Keys', sizes),
    columns: ['Key', 'Size'],
    rows: sizes.slice(0, tableRowsMax).map(([key, bytes]) => [key, bytes === 1 ? '1 byte' : `${bytes} bytes`]),
    empty: 'It has no keys.',
  }
}

const users = (name: string, of: (references: PodReferences) => readonly string[]) => (references: PodReferences) =>
  of(references).includes(name)

export const secretSummary: KindSummary = {
  queries: usedByQueries,
  facts: (object) => [
    ...fact('Type', dataOf(object).type),
    ...fact('Immutable', dataOf(object).immutable === true ? 'yes' : undefined),
  ],
  tables(object, lists) {
    const { name } = object.metadata
    const found = usersOf(
      lists,
      users(name, ({ secrets }) => secrets),
      otherUsersOfSecret(name),
    )
    return [usedByTable(found), keysTable(dataOf(object), true)]
  },
}

export const configMapSummary: KindSummary = {
  queries: usedByQueries,
  facts: (object) => fact('Immutable', dataOf(object).immutable === true ? 'yes' : undefined),
  tables: (object, lists) => [
    usedByTable(
      usersOf(
        lists,
        users(object.metadata.name, ({ configMaps }) => configMaps),
      ),
    ),
    keysTable(dataOf(object), false),
  ],
}

export const serviceAccountSummary: KindSummary = {
  queries: usedByQueries,
  facts: () => [],
  tables: ({ metadata: { name } }, lists) => [
    usedByTable(usersOf(lists, ({ serviceAccount = 'default' }) => serviceAccount === name)),
  ],
}

interface Claim {
  readonly volumeName?: string
  readonly storageClassName?: string
  readonly accessModes?: readonly string[]
  readonly resources?: { readonly requests?: { readonly storage?: string } }
}

export const claimSummary: KindSummary = {
  queries: usedByQueries,
  facts({ spec, status }) {
    const { volumeName, storageClassName, accessModes = [], resources } = (spec ?? {}) as Claim
    const { phase = 'Pending', capacity } = (status ?? {}) as {
      readonly phase?: string
      readonly capacity?: { readonly storage?: string }
    }
    return [
      ...fact('State', { text: phase, state: cellState('Phase', phase) }),
      ...fact('Volume', linkNamed('persistentvolumes', '', volumeName)),
      ...fact('Class', linkNamed('storageclasses.storage.k8s.io', '', storageClassName)),
      ...fact('Size', capacity?.storage ?? resources?.requests?.storage),
      ...fact('Access', ...accessModes),
    ]
  },
  tables: ({ metadata: { name } }, lists) => [
    usedByTable(
      usersOf(
        lists,
        users(name, ({ claims }) => claims),
      ),
    ),
  ],
}
