// CRI messages of exec, attach and port forwarding.
import { singular, protoMessage, repeated } from '../../../wire/protobuf/proto-message.ts'

export const execSyncRequest = protoMessage('runtime.v1.ExecSyncRequest', {
  containerId: singular(1, 'string'),
  cmd: repeated(2, 'string'),
  timeout: singular(3, 'int64'),
})

export const execSyncResponse = protoMessage('runtime.v1.ExecSyncResponse', {
  stdout: singular(1, 'bytes'),
  stderr: singular(2, 'bytes'),
  exitCode: singular(3, 'int32'),
})

export const execRequest = protoMessage('runtime.v1.ExecRequest', {
  containerId: singular(1, 'string'),
  cmd: repeated(2, 'string'),
  tty: singular(3, 'bool'),
  stdin: singular(4, 'bool'),
  stdout: singular(5, 'bool'),
  stderr: singular(6, 'bool'),
})

export const execResponse = protoMessage('runtime.v1.ExecResponse', {
  url: singular(1, 'string'),
})

export const attachRequest = protoMessage('runtime.v1.AttachRequest', {
  containerId: singular(1, 'string'),
  stdin: singular(2, 'bool'),
  tty: singular(3, 'bool'),
  stdout: singular(4, 'bool'),
  stderr: singular(5, 'bool'),
})

export const attachResponse = protoMessage('runtime.v1.AttachResponse', {
  url: singular(1, 'string'),
})

export const portForwardRequest = protoMessage('runtime.v1.PortForwardRequest', {
  podSandboxId: singular(1, 'string'),
  port: repeated(2, 'int32'),
})

export const portForwardResponse = protoMessage('runtime.v1.PortForwardResponse', {
  url: singular(1, 'string'),
})
