import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { linkTools } from './link-tools.ts'

const program = ['/opt/my node', '/opt/coxswain.cjs']

function folderWith(present: Readonly<Record<string, string>>) {
  const written = new Map(Object.entries(present))
  const modes = new Set<number | undefined>()
  return {
    written,
    modes,
    files: {
      makeDirectory: () => Promise.resolve(),
      read: (path: string) => {
        const content = written.get(path)
        return Promise.resolve(content === undefined ? undefined : new TextEncoder().encode(content))
      },
      write: (path: string, content: string | Uint8Array, mode?: number) => {
        written.set(path, String(content))
        modes.add(mode)
        return Promise.resolve()
      },
    },
  }
}

test('each executable runs a command, with the arguments that it gets', async () => {
  const { written, modes, files } = folderWith({})
  const names = await linkTools('/bin', { program, kubectl: "/it's/kubectl" }, files)
  deepEqual(names, ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'])
  const last = (name: string) => written.get(`/bin/${name}`)?.split('\n').at(-2)
  equal(last('kube-scheduler'), `exec '/opt/my node' '/opt/coxswain.cjs' 'scheduler' "$@"`)
  equal(last('kubectl'), `exec '/it'\\''s/kubectl' "$@"`)
  deepEqual([...modes], [0o555])
})

test('without a kubectl there is none in the folder', async () => {
  const { written, files } = folderWith({})
  await linkTools('/bin', { program, kubectl: undefined }, files)
  equal(written.has('/bin/kubectl'), false)
})

test('executables are replaced, and nothing is written where another file has the name of one', async () => {
  const { written, files } = folderWith({})
  await linkTools('/bin', { program: ['/old'], kubectl: undefined }, files)
  await linkTools('/bin', { program, kubectl: undefined }, files)
  equal(written.get('/bin/etcd')?.includes('/old'), false)
  const other = folderWith({ '/bin/kube-scheduler': 'ELF' })
  await rejects(
    linkTools('/bin', { program, kubectl: undefined }, other.files),
    /^Error: \/bin\/kube-scheduler was not written by coxswain tools link; it stays as it is$/,
  )
  deepEqual([...other.written], [['/bin/kube-scheduler', 'ELF']])
})
