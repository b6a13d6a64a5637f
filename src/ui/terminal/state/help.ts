// The lines of the help and of the list of kinds.
import { bindings, keyText, sortKeys } from './bindings.ts'
import type { Resource } from './resources.ts'
import type { View } from './views.ts'

const keyColumns = 24
const row = (left: string, right: string): string => `  ${left.padEnd(keyColumns)}${right}`

const headings: readonly (readonly [title: string, isListed: (views: readonly View['kind'][]) => boolean])[] = [
  ['Everywhere', (views) => views.length >= 3],
  ['In a list', (views) => views.length < 3 && views.includes('table')],
  ['In a text or diagram', (views) => views.length < 3 && !views.includes('table')],
]

export const helpLines: readonly string[] = [
  ...headings.flatMap(([title, isListed]) => [
    title,
    ...bindings
      .filter(({ views }) => isListed(views))
      .map(({ keys, label }) => row(keys.map(keyText).join(' '), label)),
    '',
  ]),
  'Sort a list (again: the other way)',
  ...Object.entries(sortKeys).map(([key, column]) => row(`shift-${key.toLowerCase()}`, column)),
  '',
  'Commands after :',
  row('pods, po, pod', 'a kind, by any of its names; Tab completes it'),
  row('po kube-system', 'in a namespace; "all" for all namespaces'),
  row('dp, sec, jo, np, …', 'the further names that k9s has'),
  row('ctx', 'the contexts of the kubeconfig; Enter shows that cluster'),
  row('pf', 'forwarded ports; ctrl-d ends one'),
  row('map', 'messages between the components, and their rates'),
  row('aliases', 'all kinds'),
  row('q', 'quit'),
  '',
  'Filters after /',
  row('web', 'rows with that text'),
  row('web|api', 'rows with one of the texts'),
  row('!web', 'rows without it'),
  row('-l app=web', 'rows with that label'),
]

export function kindLines(resources: readonly Resource[]): string[] {
  const rows = resources.map(({ plural, shortNames, group, version, kind, namespaced }) => [
    plural,
    shortNames.join(','),
    group === '' ? version : `${group}/${version}`,
    kind,
    namespaced ? 'true' : 'false',
  ])
  const table = [
    ['NAME', 'SHORTNAMES', 'APIVERSION', 'KIND', 'NAMESPACED'],
    ...rows.toSorted((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1)),
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((each) => each[column]?.length ?? 0)))
  return table.map((each) =>
    each
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
