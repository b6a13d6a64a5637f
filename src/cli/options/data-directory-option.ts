// The option for the data directory of a cluster.
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

export const dataDirectoryOptions = {
  'data-dir': {
    type: 'string',
    value: '<directory>',
    help: 'the data directory of the cluster: objects, certificates, kubeconfigs (~/.local/share/coxswain)',
  },
} as const

export const dataDirectoryOf = (
  named: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string =>
  resolve(
    named ??
      join(environment['XDG_DATA_HOME'] ?? join(environment['HOME'] ?? homedir(), '.local', 'share'), 'coxswain'),
  )
