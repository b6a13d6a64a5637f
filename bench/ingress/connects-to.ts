import { connect } from 'node:net'
import { until } from '../../test/until.ts'

/** Resolves when a program listens on the port of loopback. */
export const connectsTo = (port: number): Promise<void> =>
  until(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1')
        socket.on('error', () => resolve(false))
        socket.on('connect', () => {
          socket.destroy()
          resolve(true)
        })
      }),
  )
