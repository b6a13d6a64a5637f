import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { selectContext } from './kubeconfig-context.ts'

const source = (text: string) => ({ text, path: '/home/a/config', directory: '/home/a' })

const text = `
current-context: blue
contexts:
- { name: blue, context: { cluster: c, user: u, namespace: shop } }
- { name: green, context: { cluster: d, user: v } }
clusters:
- { name: c, cluster: { server: 'https://blue', certificate-authority: ca.crt } }
- { name: d, cluster: { server: 'https://green', certificate-authority: /etc/ca.crt } }
users:
- { name: u, user: { client-certificate: ../c.crt, client-key: keys/u, exec: { command: bin/helper, args: [a] } } }
- { name: v, user: { tokenFile: token, token: ca.crt, exec: { command: helper } } }
`

test('the current context, with its namespace', async () => {
  const { kubeconfig: _, contexts, ...chosen } = await selectContext(source(text))
  deepEqual(chosen, { context: 'blue', server: 'https://blue', namespace: 'shop' })
  deepEqual(contexts, [
    { name: 'blue', cluster: 'c', user: 'u', namespace: 'shop' },
    { name: 'green', cluster: 'd', user: 'v', namespace: 'default' },
  ])
})

test('another context becomes the current one', async () => {
  const { kubeconfig, contexts: _, ...chosen } = await selectContext(source(text), 'green')
  deepEqual(chosen, { context: 'green', server: 'https://green', namespace: 'default' })
  equal((parse(kubeconfig) as Record<string, unknown>)['current-context'], 'green')
})

test('paths start from the directory of the kubeconfig, except commands of the PATH', async () => {
  const { clusters, users } = parse((await selectContext(source(text))).kubeconfig) as Record<string, unknown>
  deepEqual(clusters, [
    { name: 'c', cluster: { server: 'https://blue', 'certificate-authority': '/home/a/ca.crt' } },
    { name: 'd', cluster: { server: 'https://green', 'certificate-authority': '/etc/ca.crt' } },
  ])
  deepEqual(users, [
    {
      name: 'u',
      user: {
        'client-certificate': '/home/c.crt',
        'client-key': '/home/a/keys/u',
        exec: { command: '/home/a/bin/helper', args: ['a'] },
      },
    },
    { name: 'v', user: { tokenFile: '/home/a/token', token: 'ca.crt', exec: { command: 'helper' } } },
  ])
})

test('an empty kubeconfig has no server', async () => {
  const { server, context } = await selectContext(source(''))
  deepEqual([server, context], ['', ''])
})

const refused: [what: string, text: string, context: string | undefined, message: string][] = [
  ['a misspelt context', text, 'gren', '/home/a/config has no context "gren"; did you mean green?'],
  ['an unknown context', text, 'production', '/home/a/config has no context "production"; it has blue, green'],
  ['any context of an empty file', '', 'a', '/home/a/config has no context "a"; it has none'],
  ['a file that is not YAML', 'users:\n- token: "secret', undefined, '/home/a/config is not YAML: error in line 2'],
  ['a list', '[secret]', undefined, '/home/a/config is not a kubeconfig'],
]
for (const [what, content, context, message] of refused)
  test(`${what} is refused`, () =>
    rejects(selectContext(source(content), context), { name: 'KubeconfigError', message }))
