/** What a traced process asked of the kernel, as far as it can leave a mark. */
export interface SystemCalls {
  /** Calls that make a socket or join one. A `socketpair` joins two ends inside the process and is none. */
  readonly network: readonly string[];
  /** Paths that were opened for writing, made, renamed, linked, removed, or given other rights, owners or times. */
  readonly written: readonly string[];
  /** Programs that were started. */
  readonly executed: readonly string[];
  /** Calls after which the kernel works for the process without being called, so that a trace no longer shows it. */
  readonly unseen: readonly string[];
}

/** What `strace` is asked to record. */
export const TRACED = [
  "%network",
  "open,openat,openat2,creat,truncate",
  "rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat",
  "link,linkat,symlink,symlinkat,mknod,mknodat",
  "chmod,fchmodat,chown,lchown,fchownat,utime,utimes,futimesat,utimensat,setxattr,lsetxattr",
  "mount,umount2",
  "execve,execveat",
  "io_uring_setup",
].join(",");

/** Without one of these first, no call on a socket can do anything. */
const NETWORK = /^(socket|connect|bind|listen|accept4?)$/;
const WRITING_OPEN = /\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b/;
const WRITING =
  /^(creat|truncate|rename|unlink|rmdir|mkdir|link|symlink|mknod|chmod|fchmodat|l?chown|fchownat|f?utime|l?setxattr|u?mount)/;

/** Reads what `strace -f -o FILE` wrote: one call a line, after the number of the thread. */
export function parseTrace(trace: string): SystemCalls {
  const network: string[] = [];
  const written = new Set<string>();
  const executed = new Set<string>();
  const unseen: string[] = [];
  for (const line of trace.split("\n")) {
    const call = /^(?:\d+ +)?([a-z0-9_]+)\(/.exec(line);
    const name = call?.[1];
    if (name === undefined) continue; // a signal, an exit, or the second half of a call
    const paths = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? "");
    if (/^(open|openat|openat2)$/.test(name)) {
      if (WRITING_OPEN.test(line)) written.add(paths[0] ?? "");
    } else if (/^execve(at)?$/.test(name)) {
      if (!/ = -1 /.test(line)) executed.add(paths[0] ?? "");
    } else if (WRITING.test(name)) {
      for (const path of paths) written.add(path);
    } else if (NETWORK.test(name)) {
      network.push(line);
    } else if (name === "io_uring_setup") {
      unseen.push(line);
    }
  }
  return { network, written: [...written], executed: [...executed], unseen };
}
