// The two servers that are compared: ours with the SQLite store, and kube-apiserver with etcd. Both are new, and run with TLS, RBAC,
// and priority and fairness, as they do by default.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newFolder, startProcess } from '../../test/process.ts'
import { accessOf, type Access } from '../../test/access.ts'
import { startKubeApiserver } from '../flood/kube-apiserver.ts'
import { kubernetesExecutable } from '../kubernetes-executable.ts'

export interface Subject {
  readonly name: string
  start(): Promise<StartedSubject>
}

export interface StartedSubject extends AsyncDisposable {
  readonly access: Access
  /** The API server, and its store where that is a process of its own. */
  readonly pids: readonly number[]
}

const coxswain: Subject = {
  name: 'coxswain',
  async start() {
    const folder = await newFolder()
    const kubeconfig = join(folder, 'kubeconfig')
    const data = ['--store', 'sqlite', '--data-dir', join(folder, 'data')]
    const server = await startProcess(['apiserver', '--port', '0', ...data, '--kubeconfig', kubeconfig])
    return {
      access: accessOf(kubeconfig),
      pids: [server.pid],
      async [Symbol.asyncDispose]() {
        await server.end()
        await rm(folder, { recursive: true })
      },
    }
  },
}

const kubernetes = (folder: string): Subject => {
  const executables = {
    etcd: kubernetesExecutable(folder, 'etcd'),
    server: kubernetesExecutable(folder, 'kube-apiserver'),
  }
  return {
    name: 'kube-apiserver',
    async start() {
      const server = await startKubeApiserver(executables)
      return {
        access: server.access,
        pids: [server.pid, ...server.etcdPids],
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      }
    },
  }
}

/** Ours first. */
export const subjects = (kubernetesFolder: string): readonly Subject[] => [coxswain, kubernetes(kubernetesFolder)]
