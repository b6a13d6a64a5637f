// coxswain kubectl: kubectl with the kubeconfig of a cluster of this machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { defineCommand, UsageError } from '../command/command.ts'
import { kubectlProgram } from '../command/kubectl-program.ts'
import { clusterFlag, clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'

const exitOfSignal = 128

export const kubectl = defineCommand({
  name: 'kubectl',
  summary: "runs kubectl with the administrator's kubeconfig of a cluster of this machine",
  operands: '<argument>…',
  passesArguments: true,
  options: clusterNameOptions,
  async run({ operands, options }, { environment }) {
    const kubeconfig = join(dataDirectoryOf(options, environment), 'admin.kubeconfig')
    if (!existsSync(kubeconfig))
      throw new UsageError(`there is no ${kubeconfig}. Start the cluster: coxswain up${clusterFlag(options)}`)
    const program = kubectlProgram(environment)
    if (program === undefined)
      throw new UsageError('kubectl is not on the PATH: https://kubernetes.io/docs/tasks/tools/')
    const child = spawn(program, operands, { stdio: 'inherit', env: { ...environment, KUBECONFIG: kubeconfig } })
    // An interrupt of the terminal reaches kubectl too, which decides whether it ends.
    const onInterrupt = () => {}
    process.on('SIGINT', onInterrupt)
    const onTermination = () => child.kill('SIGTERM')
    process.on('SIGTERM', onTermination)
    try {
      const [code, name] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
      return code ?? exitOfSignal + (name === null ? 0 : constants.signals[name])
    } finally {
      process.off('SIGINT', onInterrupt)
      process.off('SIGTERM', onTermination)
    }
  },
})
