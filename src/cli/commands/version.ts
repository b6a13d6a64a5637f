// coxswain version: prints the versions.
import packageFields from '../../../package.json' with { type: 'json' }
import { serverVersion } from '../../apiserver/discovery/server-version.ts'
import { defineCommand } from '../command/command.ts'

export const version = defineCommand({
  name: 'version',
  summary: 'prints the versions of Coxswain, of the Kubernetes API and of Node.js',
  operands: '',
  options: {},
  run(_arguments, { out }) {
    out(`coxswain ${packageFields.version}, Kubernetes ${serverVersion.gitVersion}, Node.js ${process.version}\n`)
    return Promise.resolve(0)
  },
})
