// The disk contract on the host's files and mounts.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { diskContract } from '../../src/machine/disk/disk-contract.suite.ts'
import { NodeDisk } from '../../src/machine/disk/node-disk.ts'
import { inNamespaces } from './namespaces.ts'

inNamespaces(import.meta.url, () => {
  diskContract('host', async () => ({
    disk: new NodeDisk(),
    directory: await mkdtemp(join(tmpdir(), 'coxswain-disk-')),
  }))
})
