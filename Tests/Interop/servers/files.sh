# Writes the files that a server in front serves, and the passwords of Digest.
mkdir -p "$work/root/private" "$work/root/folder"
chmod 755 "$work/root"
"$python" -c 'import json; print(json.dumps([{"id": number, "name": "Tee ü"} for number in range(5000)]))' > "$work/root/data.json"
head -c 104857600 /dev/urandom > "$work/root/big.bin"
echo '{"secret": 7}' > "$work/root/private/data.json"
echo '<p>folder</p>' > "$work/root/folder/index.html"
echo "ada:private:$(printf 'ada:private:p&=1' | md5sum | cut -d' ' -f1)" > "$work/digests"
