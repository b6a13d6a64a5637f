// coxswain kwok: simulates nodes and their pods in any cluster, as upstream's kwok-controller.
import packageFields from '../../../package.json' with { type: 'json' }
import { runKwok } from '../../cluster/run/run-kwok.ts'
import { defineCommand } from '../command/command.ts'
import { componentLog, kubeconfigOption, readKubeconfig, verboseOption } from '../options/component-options.ts'
import { kwokFlags, kwokSettings } from '../options/kwok-options.ts'

export const kwok = defineCommand({
  name: 'kwok',
  summary: 'simulates nodes and their pods in any cluster, with Stages that decide how they change',
  operands: '',
  options: { ...kubeconfigOption, ...kwokFlags, ...verboseOption },
  async run({ options }, terminal) {
    const { out, signal } = terminal
    const settings = await kwokSettings(options, packageFields.version)
    const kubeconfig = await readKubeconfig(options.kubeconfig, terminal)
    const log = componentLog(options.verbose, terminal)
    await runKwok({ ...settings, kubeconfig, log, onReady: () => out('ready\n') }, signal)
    return 0
  },
})
