// A machine joins with `coxswain agent --server … --token …`: the token pins the CA of its cluster, and one that is not of the
// cluster is rejected with one line.
import { equal, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { keyHash, pinnedToken } from '../../src/cluster/client/join-token-text.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { coxswain, startUp } from '../process.ts'
import { until } from '../until.ts'
import { goodToken, startJoinable } from './joining.harness.ts'

const credential = `${goodToken.id}.${goodToken.secret}`
const simulated = ['--runtime', 'simulated'] as const

function tokenCommand(kubeconfig: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(coxswain, ['token', ...args, '--kubeconfig', kubeconfig], {
    encoding: 'utf8',
  })
  equal(status, 0, stderr)
  return stdout.trim()
}

test('a token joins a machine to its own cluster only, until it expires or is deleted', async () => {
  await using cluster = await startJoinable()
  await using other = await startUp('--store', 'memory', '--runtime', 'none')
  const { kubeconfig } = cluster.up
  const { server, authority } = parseKubeconfig(await readFile(kubeconfig, 'utf8'))
  const [own, foreign] = [kubeconfig, other.kubeconfig].map((path) => tokenCommand(path, 'create', '--pinned'))
  const joining = (token = '', ...more: string[]) => ['--server', server, '--token', token, ...more, ...simulated]

  await cluster.kubelet('k3s', ...joining(own))
  const id = own?.slice(69, 75) ?? ''
  const colon = own?.replace(`${id}.`, `${id}:`)
  await cluster.kubelet('colon', ...joining(colon))
  const hash = keyHash(authority, nodeCrypto)
  await cluster.kubelet('kubeadm', ...joining(own?.slice(69), '--discovery-token-ca-cert-hash', hash))
  await cluster.k(['wait', 'node/k3s', 'node/colon', 'node/kubeadm', '--for=condition=Ready', '--timeout=200s'])

  const refusal = async (token: string | undefined, ...more: string[]) => {
    const { code, err } = await cluster.refused('refused', ...joining(token, ...more))
    equal(code, 1)
    equal(err.trimEnd().split('\n').length, 1, err)
    equal(err.includes(token?.slice(-16) ?? ''), false, 'the secret is not shown')
    return err
  }
  match(
    await refusal(foreign),
    /the token belongs to another cluster than https:\/\/127\.0\.0\.1:\d+: its CA has the hash [0-9a-f]{64}, and the token is for [0-9a-f]{64}/,
  )
  const { authority: foreignAuthority } = parseKubeconfig(await readFile(other.kubeconfig, 'utf8'))
  match(
    await refusal(credential, '--discovery-token-ca-cert-hash', keyHash(foreignAuthority, nodeCrypto)),
    /the token belongs to another cluster than \S+: the public key of its CA has the hash sha256:[0-9a-f]{64}/,
  )
  const info = ['-n', 'kube-public', 'get', 'configmap', 'cluster-info', '-o', 'jsonpath={.data}']
  await until(async () => (await cluster.k(info)).includes(`jws-kubeconfig-${id}`))
  match(
    await refusal(`${own?.slice(0, 76)}${'0'.repeat(16)}`),
    new RegExp(`does not accept the token ${id}: its secret is wrong`),
  )
  equal(tokenCommand(kubeconfig, 'delete', own ?? ''), `bootstrap token "${id}" deleted`)
  await until(async () => !(await cluster.k(info)).includes(`jws-kubeconfig-${id}`))
  match(await refusal(own), new RegExp(`does not accept the token ${id}: it is unknown, has expired or was deleted`))
  match(await refusal(pinnedToken('none00.0123456789abcdef', authority, nodeCrypto)), /it is unknown, has expired/)
  match(await cluster.k(['get', 'nodes', '-o', 'name']), /^node\/colon\nnode\/k3s\nnode\/kubeadm\n?$/)
})
