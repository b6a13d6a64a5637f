// The command with which another machine joins a cluster that listens on all addresses: it has the address of the default route,
// or says which flag names another.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { inNamespaces } from '../containers/namespaces.ts'
import { coxswain, startUp } from '../process.ts'

function ip(command: string): void {
  const { status, stderr } = spawnSync('ip', command.split(' '), { encoding: 'utf8' })
  equal(status, 0, stderr)
}

function joinCommandOf(kubeconfig: string, ...flags: string[]): readonly [code: number | null, text: string] {
  const args = ['token', 'create', '--print-join-command', '--kubeconfig', kubeconfig, ...flags]
  const { status, stdout, stderr } = spawnSync(coxswain, args, { encoding: 'utf8' })
  return [status, `${stdout}${stderr}`.trimEnd()]
}

inNamespaces(import.meta.url, () => {
  test('the join command has an address that other machines reach', async () => {
    for (const [device, address] of [
      ['lan0', '192.0.2.1/24'],
      ['lan1', '198.51.100.1/24'],
    ] as const) {
      ip(`link add ${device} type bridge`)
      ip(`address add ${address} dev ${device}`)
      ip(`link set ${device} up`)
    }
    await using up = await startUp('--bind', '0.0.0.0', '--store', 'memory', '--runtime', 'none')
    const port = new URL(/https:\S+/.exec(up.readyLine)?.[0] ?? '').port
    deepEqual(joinCommandOf(up.kubeconfig), [
      2,
      `coxswain token: the API server listens at https://192.0.2.1:${port}, https://198.51.100.1:${port}; choose with --server-url the one that the other machine reaches`,
    ])
    const server = `https://192.0.2.1:${port}`
    match(joinCommandOf(up.kubeconfig, '--server-url', server)[1], new RegExp(`^coxswain agent --server ${server} `))

    ip('route add default via 198.51.100.254')
    const [code, command] = joinCommandOf(up.kubeconfig)
    equal(code, 0, command)
    match(command, new RegExp(`^coxswain agent --server https://198\\.51\\.100\\.1:${port} --token K10[0-9a-f]{64}::`))
  })

  test('a server at loopback has none', async () => {
    await using up = await startUp('--store', 'memory', '--runtime', 'none')
    const [code, message] = joinCommandOf(up.kubeconfig)
    equal(code, 2)
    match(
      message,
      /^coxswain token: other machines do not reach https:\S+; start the cluster with --bind and its address$/,
    )
  })
})
