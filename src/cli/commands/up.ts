// coxswain up: a whole cluster on this machine, in this process.
import { defineCommand } from '../command.ts'

export const up = defineCommand({
  name: 'up',
  summary: 'starts a cluster on this machine',
  operands: '',
  options: {},
  run(_, terminal) {
    terminal.out('coxswain: the ground is laid (clock, queues, recorder, platform); the API server is not there yet.\n')
    return Promise.resolve(0)
  },
})
