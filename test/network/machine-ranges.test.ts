// coxswain up on a machine whose own network is in the range of Services, in a network namespace.
import { deepEqual, equal } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { coxswain, newFolder } from '../process.ts'

const script = `
  ip link set lo up && ip link add lan0 type bridge && ip address add 10.99.0.1/24 dev lan0 && ip link set lan0 up
  "$@" 2>&1
  echo "ended with $?"
  nft list tables
`

for (const runtime of ['containerd', 'auto'])
  test(`with --runtime ${runtime} it is refused before anything is changed`, async () => {
    const folder = await newFolder()
    try {
      const data = join(folder, 'data')
      const files = ['--data-dir', data, '--kubeconfig', join(folder, 'kubeconfig')]
      const command = [coxswain, 'up', '--bind', '10.99.0.1', '--port', '0', '--runtime', runtime, ...files]
      const { stdout } = await promisify(execFile)('unshare', ['--net', 'sh', '-c', script, 'sh', ...command])
      equal(
        stdout,
        'coxswain up: the addresses of Services, 10.96.0.0/12, overlap those of lan0 (10.99.0.0/24); ' +
          'start the cluster with others: --service-cluster-ip-range 172.20.0.0/16\nended with 1\n',
      )
      const kept = await readdir(data)
      deepEqual(
        kept.filter((name) => name.startsWith('store') || name === 'node'),
        [],
      )
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
