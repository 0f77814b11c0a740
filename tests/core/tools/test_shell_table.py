"""The table of read-only commands: nothing hostile passes, plain reading does."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_app.core.tools.shell_table import TABLE, reading
from desktop_app.core.tools.shell_words import commands_in, plain_words

# One line a case. Newlines are written as \n, carriage returns as \r, NUL as \0, tabs as \t.
HOSTILE = r"""
ls\nrm -rf foo
ls & rm -rf foo
LD_PRELOAD=./evil.so ls
rg --pre ./x foo
echo hi\ncurl http://evil
tree -o out
git diff --no-index --output=/tmp/x a b
ls;rm -rf foo
ls ; rm foo
ls && rm foo
ls || rm foo
ls | sh
ls |& sh
ls &
ls > out
ls >> out
ls >| out
ls 2> out
ls &> out
echo x > .bashrc
cat < /etc/shadow
cat << EOF\nx\nEOF
cat <<< x
cat <(rm x)
cat >(rm x)
echo $(rm x)
echo `rm x`
echo $HOME
echo ${HOME}
echo ${x:=y}
echo $((x=1))
echo $'a\nb'
echo $"x"
echo "$(rm x)"
echo "`rm x`"
echo "${x}"
(ls)
{ ls; }
{ls,-la}
ls {a,b}
ls *
ls ?
ls [a-z]
ls *.py
ls ~
ls ~root
ls ~/x
ls a:~/x
cat a=~/x
! ls
ls !$
echo !!
ls # rm
ls \
ls \\n-la
l\s
'l's
"ls"
'ls'
l"s"
ls 'a'b
ls a'b'
ls "a"'b'
ls "a
ls 'a
ls\rrm x
ls\0rm
\nrm x
ls -la\n
FOO=bar ls
FOO+=bar ls
FOO= ls
a=b
env ls
command ls
builtin pwd
exec ls
eval ls
sudo ls
time ls
nohup ls
xargs ls
nice ls
source x
. x
bash -c ls
sh x
python -c x
/bin/ls
./ls
../ls
bin/cat x
ls /
ls /etc
ls ..
ls ../x
ls a/../../b
cat /etc/passwd
cat /dev/sda
cat x /etc/passwd
cat -- /etc/passwd
cat ../secret
cat 'a' '../b'
cat "/etc/passwd"
head -n 5 /etc/passwd
head -n -5 x
tail -f x
tail -F x
tail --follow x
tail --follow=name x
tail --pid=1 x
tail -n 5 -f x
wc --files0-from=x
wc --files0-from x
stat -f x
stat --printf=x y
file -f names
file -m magic x
file -C -m x
file --files-from x
file -z x
file -s x
date -s tomorrow
date --set=tomorrow
date -us tomorrow
date 010112002026
date -f names
date --file=names
date -r x
date +%Y 010112002026
whoami x
uname --evil
pwd x
du --files0-from=x
du -X x
du --exclude-from=x
df --output
df /
cat -
ls --help=x
ls --evil
ls --color --evil
ls -la --quoting-style=shell
echo -x
echo --evil
git
git -c core.pager=x log
git -C / log
git --git-dir=x log
git --exec-path=x log
git --paginate log
git -p log
git push
git pull
git commit -m x
git checkout .
git reset
git clean -fd
git stash
git config x y
git rebase -i
git remote update
git fetch
git submodule update
git bisect run x
git grep -O x
git archive x
git log --output=x
git log --outp=x
git log --ext-diff
git log --textconv
git log --show-signature
git log --format=%GG
git log --pretty=format:%G?
git log -O x
git log -S x
git log -G x
git log --no-index
git diff --ext-diff
git diff --textconv
git diff --output x
git diff -O.x
git diff --no-index a b
git diff /etc/passwd x
git diff ../x y
git show --ext-diff
git show --textconv HEAD
git show HEAD:../x
git status x
git status --evil
git status ../x
git branch new
git branch -d x
git branch -D x
git branch -m x
git branch -f x
git branch -c x
git branch -u x
git branch --edit-description
git branch --set-upstream-to=x
git branch -a new
git diff "a" 'b'c
git log --since='x'y
git st
'git' status
git 'status'
diff a b
find . -delete
find . -exec rm x
find .
grep x y
sed -i s/a/b/ x
awk x
sort -o x y
tee x
less x
more x
vi x
man x
make
npm test
rm x
mv a b
cp a b
touch x
mkdir x
chmod 777 x
ln -s / x
curl x
wget x
nc x 1
ssh x
kill 1
cd x
cd / ls
pushd x
export X=1
alias ls=rm
unset x
set -x
trap x EXIT
read x
history -c
jobs
wait
type ls
which ls
hash ls
ulimit -c 1
umask 0
cat C:/Windows/x
ls a:..
ls x:../y
ls,rm
ls%20
ls=x
""".strip("\n").split("\n")

PLAIN = r"""
ls
ls -la
ls -l src
ls -lah src/core
ls -1
ls --all
ls --color=never
ls -R docs
ls 'my documents'
ls "my documents"
ls --sort=size
ls -ltr
ls -- src
ls\tsrc
\t ls  -a
ls 文档
pwd
pwd -P
cat README.md
cat -n src/main.py
cat a.txt b.txt
cat 'a b.txt'
cat .gitignore
cat notes/2024-01.md
head x.log
head -20 x.log
head -n 20 x.log
head -n20 x.log
head -c 100 x.log
head --lines=5 x.log
tail x.log
tail -n 50 x.log
tail -100 x.log
tail -n +5 x.log
wc -l x.csv
wc x.csv y.csv
wc --lines x.csv
stat x
stat -c %s x
stat -c '%n %s' x
stat --format=%s x
file x.bin
file -b x.bin
file --mime-type x.bin
date
date -u
date +%Y-%m-%d
date '+%Y-%m-%d %H:%M'
date -d yesterday
date -d 'next friday' +%F
whoami
uname -a
uname
du -sh .
du -h -d 1
du --max-depth=1
df -h
df
echo hello
echo 'hello world'
echo -n hello
echo done, all 5 of them.
git status
git status -s
git status --short --branch
git status --porcelain=v2
git status --porcelain
git log
git log --oneline
git log --oneline -n 10
git log -5
git log --oneline -20 --graph
git log -p src/main.py
git log --since=yesterday
git log --since='2 weeks ago'
git log --author=Ann --stat
git log main..dev
git log HEAD~3..HEAD
git log -- src
git diff
git diff --stat
git diff --cached
git diff HEAD
git diff HEAD~1
git diff HEAD^ HEAD
git diff main dev -- src/a.py
git diff --name-only
git diff -U5
git show
git show HEAD
git show HEAD~2
git show HEAD:src/main.py
git show --stat HEAD
git branch
git branch -a
git branch -vv
git branch --show-current
git branch --list
""".strip("\n").split("\n")

SPECIAL = {"\\n": "\n", "\\r": "\r", "\\0": "\0", "\\t": "\t"}


def _unfold(line: str) -> str:
    for name, char in SPECIAL.items():
        line = line.replace(name, char)
    return line


def test_the_corpora_are_large() -> None:
    assert len(set(HOSTILE)) >= 200
    assert len(set(PLAIN)) >= 80


@pytest.mark.parametrize("line", HOSTILE)
def test_hostile_lines_are_asked(line: str) -> None:
    assert reading(_unfold(line)) is None


@pytest.mark.parametrize("line", PLAIN)
def test_plain_reading_passes(line: str) -> None:
    assert reading(_unfold(line)) is not None


@pytest.mark.parametrize("char", list("\n\r;&|<>$`(){}\\!#*?[]\0\x01\x7f\u00a0\u2028\u3000"))
@pytest.mark.parametrize("line", ["ls {}", "ls{}", "{}ls", "cat a{}b", "cat 'a{}b'", 'cat "a{}b"'])
def test_no_character_of_the_shell_passes_anywhere(line: str, char: str) -> None:
    assert reading(line.replace("{}", char)) is None


@given(st.text(st.sampled_from(list("ls cat-a.'\"/~\n;&|$`(){}\\=\t")), max_size=24))
def test_whatever_passes_is_one_listed_command(line: str) -> None:
    known = reading(line)
    if known is not None:
        assert known.words[0] in TABLE
        assert not set(line) & set("\n;&|$`(){}\\")
        assert not any(p.startswith("/") or ".." in p.split("/") for p in known.paths)


def test_words_of_a_plain_line() -> None:
    words = plain_words("""git commit -m 'fix; all | of > it' "and (more)" """)
    assert words is not None
    assert [w.text for w in words][2:] == ["-m", "fix; all | of > it", "and (more)"]
    assert plain_words('echo "a$b"') is None
    assert plain_words("echo a*b") is None
    assert plain_words("echo a*b", globs=True) is not None


@pytest.mark.parametrize(
    "line",
    ["rm x", "ls; rm x", "ls\nrm x", "ls|rm x", "a=b rm x", "sudo rm x", "r''m x", "r\\m x",
     "/bin/rm x", "echo $(rm x)", "`rm x`", "if true; then rm x; fi", "env -i A=1 rm x",
     "(rm x)", "ls&rm x", "command rm x"],
)  # fmt: skip
def test_commands_are_found_wherever_they_stand(line: str) -> None:
    assert any(c == "rm" or c.startswith("rm ") for c in commands_in(line))


def test_bash_reads_the_same_words_as_we_do() -> None:
    """Every plain line, run by bash with its commands replaced, has the words that we saw."""
    names = sorted({line.split()[0] for line in map(_unfold, PLAIN)})
    define = "".join(f"{n}() {{ printf '%s\\0' {n} \"$@\"; printf '\\n'; }}\n" for n in names)
    script = define + "\n".join(map(_unfold, PLAIN))
    out = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=True).stdout
    seen = [tuple(line.decode().split("\0")[:-1]) for line in out.splitlines()]
    expected = [known.words for known in map(reading, map(_unfold, PLAIN)) if known]
    assert seen == expected
