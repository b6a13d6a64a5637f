// coxswain down: stops the cluster, or the kubelet, of this machine, and on request its containers.
import { realClock } from '../../base/time/clock.ts'
import { runningPods } from '../../cluster/data-directory/running-pods.ts'
import { stopProcess } from '../../cluster/run/stop-process.ts'
import { defineCommand } from '../command/command.ts'
import { clusterFlag, clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'
import { containersOf } from '../output/start-report.ts'

export const down = defineCommand({
  name: 'down',
  aliases: ['stop'],
  summary: 'stops the cluster of this machine; its containers keep running unless --containers is given',
  operands: '',
  options: {
    ...clusterNameOptions,
    containers: { type: 'boolean', help: 'ends the containers too, also those that an earlier stop has left' },
  },
  async run({ options }, { out, environment, signal }) {
    const directory = dataDirectoryOf(options, environment)
    const flag = clusterFlag(options)
    const pid = await stopProcess(directory, (running) => process.kill(running, 'SIGTERM'), realClock, signal)
    // Printed first, because ending containers may fail.
    if (pid !== undefined) out(`Process ${pid} has ended.\n`)
    if (options.containers === true) {
      // Loaded on demand: a stop alone does not need the runtime.
      const { endContainers } = await import('../../cluster/data-directory/remove-node.ts')
      const pods = await endContainers(directory, signal)
      if (pods > 0) out(`${containersOf(pods)} have ended.\n`)
      else out(pid === undefined ? `Nothing runs in ${directory}.\n` : 'No container was running.\n')
      return 0
    }
    const pods = await runningPods(directory)
    if (pid === undefined) out(pods > 0 ? `No process runs in ${directory}.\n` : `Nothing runs in ${directory}.\n`)
    if (pods > 0) out(`${containersOf(pods)} keep running. To end them: coxswain down --containers${flag}\n`)
    return 0
  },
})
