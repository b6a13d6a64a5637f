// Programs that only record what they are asked to do.
import type { InteractivePrograms, Processes } from '../../platform/process/processes.ts'

/** `nftPrints` is what nft prints for a transaction. */
export function recordedPrograms(nftPrints: readonly string[] = []) {
  const commands: string[] = []
  const transactions: string[] = []
  let running = 0
  const processes: Pick<Processes, 'run'> & InteractivePrograms = {
    run(program, args, { input = '' }) {
      commands.push([program, ...args].join(' '))
      if (program === 'nft') transactions.push(String(input))
      return Promise.resolve({ code: 0, stdout: '', stderr: '' })
    },
    startInteractive(_program, _args, _options, onLine) {
      const ended = Promise.withResolvers<number>()
      running++
      return {
        pid: 1,
        ended: ended.promise,
        kill() {
          running--
          ended.resolve(0)
        },
        write(text) {
          const [transaction = ''] = text.split('\n')
          transactions.push(transaction)
          for (const line of nftPrints) onLine(line)
          onLine('payload expression, datatype ipv4_addr (IPv4 address), 32 bits')
        },
      }
    },
  }
  return { processes, commands, transactions, running: () => running }
}
