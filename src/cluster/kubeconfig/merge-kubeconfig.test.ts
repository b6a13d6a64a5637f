import { deepEqual, equal, match, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { base64Text } from '../../pki/pem.ts'
import { kubeconfigText } from '../../pki/kubeconfig.ts'
import { mergeKubeconfig, removeFromKubeconfig } from './merge-kubeconfig.ts'

const owner = { name: 'coxswain', dataDirectory: '/data' }
const access = { server: 'https://127.0.0.1:6443', authority: 'CA', identity: { certificate: 'C1', key: 'K1' } }
const renewed = { ...access, server: 'https://127.0.0.1:7443', identity: { certificate: 'C2', key: 'K2' } }

const work = `# my clusters
apiVersion: v1
kind: Config
preferences: {colors: true}
clusters:
- name: work # the big one
  cluster:
    server: https://10.0.0.1
    x-unknown: kept
contexts:
- name: work
  context: {cluster: work, user: me, namespace: team}
current-context: work
users:
- name: me
  user:
    exec:
      command: get-token
`

interface Entries {
  readonly clusters: { name: string; cluster: Record<string, unknown> }[]
  readonly contexts: { name: string; context: Record<string, unknown> }[]
  readonly users: { name: string; user: Record<string, unknown> }[]
  readonly 'current-context': string
}
const read = (text: string) => parse(text) as Entries
const namesIn = (text: string) => {
  const { clusters, contexts, users, ...rest } = read(text)
  return [
    ...[clusters, contexts, users].map((list) => (list ?? []).map(({ name }) => name).join(' ')),
    rest['current-context'],
  ]
}

const rows: [what: string, before: string, names: string[], isCurrent: boolean][] = [
  ['an empty file', '', ['coxswain', 'coxswain', 'coxswain-admin', 'coxswain'], true],
  [
    'lists that are null',
    'clusters: null\ncontexts: null\nusers: []\ncurrent-context: ""\n',
    ['coxswain', 'coxswain', 'coxswain-admin', 'coxswain'],
    true,
  ],
  ['another cluster', work, ['work coxswain', 'work coxswain', 'me coxswain-admin', 'work'], false],
  [
    'another cluster without a current context',
    work.replace('current-context: work\n', ''),
    ['work coxswain', 'work coxswain', 'me coxswain-admin', 'coxswain'],
    true,
  ],
  [
    'another user named admin',
    work.replaceAll('me\n', 'admin\n').replace('user: me', 'user: admin'),
    ['work coxswain', 'work coxswain', 'admin coxswain-admin', 'work'],
    false,
  ],
]
for (const [what, before, names, isCurrent] of rows)
  test(`the cluster is added to ${what}`, () => {
    const merged = mergeKubeconfig(before, owner, access)
    deepEqual(namesIn(merged.text), names)
    deepEqual([merged.contextName, merged.isCurrent, merged.wasPresent], ['coxswain', isCurrent, false])
    const own = read(merged.text).clusters.at(-1)
    equal(own?.cluster['certificate-authority-data'], base64Text('CA'))
  })

test('other entries keep their text, comments and unknown fields', () => {
  const { text } = mergeKubeconfig(work, owner, access)
  for (const line of work.split('\n')) ok(text.includes(line), line)
})

test('a second start updates only the entries of the cluster', () => {
  const first = mergeKubeconfig(work, owner, access).text
  const changed = first.replace(
    'context:\n    cluster: coxswain',
    'context:\n    namespace: mine\n    cluster: coxswain',
  )
  const { text, wasPresent } = mergeKubeconfig(changed, owner, renewed)
  ok(wasPresent)
  deepEqual(namesIn(text), ['work coxswain', 'work coxswain', 'me coxswain-admin', 'work'])
  equal(
    text,
    changed
      .replaceAll(access.server, renewed.server)
      .replaceAll(base64Text('C1'), base64Text('C2'))
      .replaceAll(base64Text('K1'), base64Text('K2')),
  )
  equal(mergeKubeconfig(text, owner, renewed).text, text, 'the same again changes nothing')
})

test('a renamed context keeps its name', () => {
  const first = mergeKubeconfig(work, owner, access).text
  const renamed = first.replace('- name: coxswain\n  context:', '- name: home\n  context:')
  deepEqual(mergeKubeconfig(renamed, owner, renewed).contextName, 'home')
})

test('entries from an older version without a mark are identified by their authority', () => {
  const old = kubeconfigText(access)
  const { text, wasPresent } = mergeKubeconfig(old, { ...owner, authority: 'CA' }, renewed)
  ok(wasPresent)
  deepEqual(namesIn(text), ['coxswain', 'coxswain', 'admin', 'coxswain'])
})

const refused: [what: string, before: string, message: RegExp][] = [
  ['no YAML', 'clusters: [', /it is not valid YAML/],
  ['two documents', `${work}---\n${work}`, /it is not valid YAML/],
  ['a list', '- a\n', /holds no mapping/],
  ['another kind', 'kind: Pod\n', /its kind is Pod/],
  ['clusters that are not a list', 'clusters: {a: 1}\n', /clusters is not a list/],
  ['a user without a name', 'users:\n- user: {}\n', /users\[0\] has no name/],
  ['a current-context that is a list', 'current-context: []\n', /current-context is not a string/],
  [
    'a cluster with the same name of another data directory',
    mergeKubeconfig('', { ...owner, dataDirectory: '/other' }, { ...access, authority: 'CA2' }).text,
    /clusters already have a "coxswain" that belongs to something else; choose another name for this cluster with --name/,
  ],
  [
    'a user with the same name',
    'users:\n- name: coxswain-admin\n  user: {}\n',
    /users already have a "coxswain-admin"/,
  ],
  [
    'a context with the same name',
    'contexts:\n- name: coxswain\n  context: {}\n',
    /contexts already have a "coxswain"/,
  ],
]
for (const [what, before, message] of refused)
  test(`refused: ${what}`, () => throws(() => mergeKubeconfig(before, owner, access), { message }))

test('only the added entries are removed', () => {
  const merged = mergeKubeconfig(work, owner, access).text
  equal(removeFromKubeconfig(merged, owner), work)
  equal(removeFromKubeconfig(work, owner), undefined)
  equal(removeFromKubeconfig(mergeKubeconfig('', owner, access).text, owner), '')
  const chosen = merged.replace('current-context: work', 'current-context: coxswain')
  match(removeFromKubeconfig(chosen, owner) ?? '', /^current-context: ""$/m)
  const old = kubeconfigText(access)
  equal(removeFromKubeconfig(old, { ...owner, authority: 'CA' }), '')
})

test('a cluster restored into another directory gets separate entries although its authority is the same', () => {
  const first = mergeKubeconfig('', owner, access).text
  const restored = { name: 'other', dataDirectory: '/other', authority: 'CA' }
  deepEqual(namesIn(mergeKubeconfig(first, restored, access).text), [
    'coxswain other',
    'coxswain other',
    'coxswain-admin other-admin',
    'coxswain',
  ])
  equal(removeFromKubeconfig(first, restored), undefined)
})
