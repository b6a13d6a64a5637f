// coxswain down: stops the cluster, or the kubelet, of this machine, and on request its containers.
import { realClock } from '../../base/time/clock.ts'
import { stopProcess } from '../../cluster/run/stop-process.ts'
import { defineCommand } from '../command/command.ts'
import { dataDirectoryOf, dataDirectoryOptions } from '../options/data-directory-option.ts'

export const down = defineCommand({
  name: 'down',
  aliases: ['stop'],
  summary: 'stops the cluster of this machine; its containers keep running unless --containers is given',
  operands: '',
  options: {
    ...dataDirectoryOptions,
    containers: { type: 'boolean', help: 'ends the containers too, also those that an earlier stop has left' },
  },
  async run({ options }, { out, environment, signal }) {
    const directory = dataDirectoryOf(options['data-dir'], environment)
    const pid = await stopProcess(directory, (running) => process.kill(running, 'SIGTERM'), realClock, signal)
    out(pid === undefined ? `Nothing runs in ${directory}.\n` : `Process ${pid} has ended.\n`)
    if (options.containers !== true) return 0
    // Loaded on demand: a stop alone does not need the runtime.
    const { endContainers } = await import('../../cluster/data-directory/remove-node.ts')
    const pods = await endContainers(directory, signal)
    out(
      pods === 0
        ? 'No container was running.\n'
        : `The containers of ${pods} pod${pods === 1 ? '' : 's'} have ended.\n`,
    )
    return 0
  },
})
