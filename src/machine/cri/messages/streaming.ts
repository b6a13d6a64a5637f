// Running a command in a container, and addresses of streams into it.
import { one, protoMessage, repeated } from '../../../wire/protobuf/message.ts'

export const execSyncRequest = protoMessage('runtime.v1.ExecSyncRequest', {
  containerId: one(1, 'string'),
  cmd: repeated(2, 'string'),
  timeout: one(3, 'int64'),
})

export const execSyncResponse = protoMessage('runtime.v1.ExecSyncResponse', {
  stdout: one(1, 'bytes'),
  stderr: one(2, 'bytes'),
  exitCode: one(3, 'int32'),
})

export const execRequest = protoMessage('runtime.v1.ExecRequest', {
  containerId: one(1, 'string'),
  cmd: repeated(2, 'string'),
  tty: one(3, 'bool'),
  stdin: one(4, 'bool'),
  stdout: one(5, 'bool'),
  stderr: one(6, 'bool'),
})

export const execResponse = protoMessage('runtime.v1.ExecResponse', {
  url: one(1, 'string'),
})

export const attachRequest = protoMessage('runtime.v1.AttachRequest', {
  containerId: one(1, 'string'),
  stdin: one(2, 'bool'),
  tty: one(3, 'bool'),
  stdout: one(4, 'bool'),
  stderr: one(5, 'bool'),
})

export const attachResponse = protoMessage('runtime.v1.AttachResponse', {
  url: one(1, 'string'),
})

export const portForwardRequest = protoMessage('runtime.v1.PortForwardRequest', {
  podSandboxId: one(1, 'string'),
  port: repeated(2, 'int32'),
})

export const portForwardResponse = protoMessage('runtime.v1.PortForwardResponse', {
  url: one(1, 'string'),
})
